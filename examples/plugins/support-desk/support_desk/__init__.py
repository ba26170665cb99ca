"""A support desk: the front desk answers questions about orders and hands refunds over."""
