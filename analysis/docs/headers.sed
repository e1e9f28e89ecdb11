# The comments of a header as doxygen reads them: that of the file, those above a line, those behind one.
1s#^/\*#/** \\file\n *#
s#^( *)/\* #\1/** #
s#(.*[^ *].*[;,{})])( *)/\* #\1\2/**< #
