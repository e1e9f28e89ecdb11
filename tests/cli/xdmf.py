"""A reader of XDMF documents: their frames, and the numbers that the frames refer to."""
import os
import xml.etree.ElementTree as xml

import h5py
import numpy as np


def frames(path):
    """The grids of the document's one temporal collection."""
    collection = xml.parse(path).getroot()[0].findall("Grid")
    assert len(collection) == 1 and collection[0].get("CollectionType") == "Temporal"
    return collection[0].findall("Grid")


def numbers(item, folder, grows=False):
    """The numbers of a DataItem: an array of an HDF5 file, which may have grown since, or a hyperslab of one."""
    text, dims = item.text, tuple(int(n) for n in item.get("Dimensions").split())
    if item.get("ItemType") == "HyperSlab":
        start, stride, count = np.array(item[0].text.split(), int).reshape(3, -1)
        whole = numbers(item[1], folder, grows)
        assert (stride == 1).all()
        return whole[tuple(slice(a, a + n) for a, n in zip(start, count))].reshape(dims)
    assert item.get("Format") == "HDF"
    name, array = text.split(":")
    with h5py.File(os.path.join(folder, name)) as file:
        stored = file[array]
        assert stored.shape[0] >= dims[0] if grows else stored.shape == dims
        assert stored.shape[1:] == dims[1:]
        assert stored.dtype.kind == {"Float": "f", "Int": "i"}[item.get("NumberType")]
        assert stored.dtype.itemsize == int(item.get("Precision"))
        return stored[()]
