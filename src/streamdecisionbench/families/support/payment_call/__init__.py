"""Support A: a balance payment with a recorder that must pause."""
