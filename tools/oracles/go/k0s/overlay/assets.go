package assets

// BinData lists the programs that a release of k0s carries inside: here there are none, and k0s looks for them in PATH.
var BinData = map[string]struct{ offset, size, originalSize int64 }{}

// BinDataSize is how many bytes they have together.
var BinDataSize int64
