"""The trained router: how it scores a text, its file, and how it is trained and measured. Only
`training` needs scikit-learn."""
