rm precious
