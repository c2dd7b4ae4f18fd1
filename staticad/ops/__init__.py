"""Every public function of tensors, under its array-API name."""
