"""Where a library does not survive a lack of memory, and nothing that a caller can check tells of it: by library and function,
the innermost with a name. What is not here is a failure of the test.

Most of it is HDF5 1.10.8: where a piece of an object could not be made, its own cleaning up reads or frees it all the same."""

ANY = "*"
CRASHES = {
    # the stack of errors and the context of a thread are used without a look at whether there was memory for them
    "libhdf5_serial": """
        H5E__get_stack H5CX_pop H5CX_push H5TS_cancel_count_inc H5TS_cancel_count_dec
        """
    # an error about a text of an error that could not be copied is an error with a text: calls without end
    """ H5E_printf_stack H5E__push_stack H5I_inc_ref
        """
    # attributes, types, spaces, names and datasets that were made in part
    """ H5T_close H5T_cmp H5T__insert H5O__attr_create H5A__close H5S_set_version H5S__extent_copy_real H5_hash_string H5D_close
        H5D__virtual_reset_layout H5F__close_cb H5AC_create H5MM_xfree H5SL_search H5SL_remove H5C_protect H5RS_create H5F__new
        H5T_set_loc H5S_set_extent_simple H5AC_cork H5SL_create H5SL__init_package
        """
    # lists of pieces to be used again that have one twice, or one that is none
    """ H5FL_reg_malloc H5FL_reg_free H5FL_arr_malloc H5FL_fac_malloc H5FL_fac_term H5FL_blk_free H5FL_garbage_coll""",
    "libhdf5_serial_hl": "H5DSattach_scale",
    # SUNDIALS 6.4.1: the log of a context that was made in part
    "libsundials_ida": "SUNLogger_Create SUNLogger_Destroy",
    # hmat-oss 1.8: exceptions of C++ that leave its functions for C, wherever they come from
    "libhmat": ANY,
}
# A copy of properties that failed within H5Dopen2, which succeeds; closing the file then fails, after all was written.
TEXTS = ["can't locate ID"]


def known_crash(place):
    library, function = place.split()
    known = CRASHES.get(library.split(".so")[0], "").split()
    return function in known or ANY in known


def known_text(text):
    return any(known in text for known in TEXTS)
