"""A challenge submission server in the tradition of the PASCAL VOC evaluation server, and its development kit."""
