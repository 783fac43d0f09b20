STEP = 2


def bump(x):
    x.add_(STEP)
    return x


def soft(x):
    return x.exp()


def both(x, also=True):
    y = soft(x)
    if also:
        bump(y)
    return y
