class Ring:
    def __init__(self, offset):
        self.offset = offset

    def rotate_by(self, x, steps):
        return x.roll(steps + self.offset, 0).exp()

    def span_of(self, x):
        return x.max() - x.min()
