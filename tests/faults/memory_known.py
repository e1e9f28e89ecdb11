"""Places at which a library crashes if memory is short, and no caller can prevent it: the library and the innermost function
with a name. A crash at any other place is a failure of the test.

Most of them are in HDF5 1.10.8: if a part of an object could not be made, the cleanup reads or frees this part anyway."""

ANY = "*"
CRASHES = {
    # the stack of errors and the context of a thread are used without a check that they could be allocated
    "libhdf5_serial": """
        H5E__get_stack H5CX_pop H5CX_push H5TS_cancel_count_inc H5TS_cancel_count_dec
        """
    # if the text of an error cannot be copied, this is a new error with a text: endless recursion
    """ H5E_printf_stack H5E__push_stack H5I_inc_ref
        """
    # attributes, types, spaces, names and datasets that were only partly made
    """ H5T_close H5T_cmp H5T__insert H5O__attr_create H5A__close H5S_set_version H5S__extent_copy_real H5_hash_string H5D_close
        H5D__virtual_reset_layout H5F__close_cb H5AC_create H5MM_xfree H5SL_search H5SL_remove H5C_protect H5RS_create H5F__new
        H5T_set_loc H5S_set_extent_simple H5AC_cork H5SL_create H5SL__init_package
        """
    # free lists that contain a piece twice, or an invalid piece
    """ H5FL_reg_malloc H5FL_reg_free H5FL_arr_malloc H5FL_fac_malloc H5FL_fac_term H5FL_blk_free H5FL_garbage_coll""",
    "libhdf5_serial_hl": "H5DSattach_scale",
    # SUNDIALS 6.4.1: the log of a context that was only partly made
    "libsundials_ida": "SUNLogger_Create SUNLogger_Destroy",
    # hmat-oss 1.8: C++ exceptions that leave its C interface, from any place
    "libhmat": ANY,
}
# H5Dopen2 succeeds although a copy of properties in it has failed; closing the file then fails, after everything was written.
TEXTS = ["can't locate ID"]


def known_crash(place):
    library, function = place.split()
    known = CRASHES.get(library.split(".so")[0], "").split()
    return function in known or ANY in known


def known_text(text):
    return any(known in text for known in TEXTS)
