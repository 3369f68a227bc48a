def write_table(*_): pass
