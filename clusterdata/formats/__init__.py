"""One file for each format of a trace; `clusterdata.registry` knows them all."""
