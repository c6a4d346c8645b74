"""An adapter whose library is not there."""

raise ImportError("libmock.so.7: cannot open shared object file: No such file or directory")
