# Changes the comments of a header to doxygen's form: the file's comment, comments above a line, comments after a line.
1s#^/\*#/** \\file\n *#
s#^( *)/\* #\1/** #
s#(.*[^ *].*[;,{})])( *)/\* #\1\2/**< #
