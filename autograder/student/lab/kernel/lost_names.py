"""Runs in a fresh kernel: when a cell uses a name that nothing has defined, the error says what to do."""


def _help_with_lost_names() -> None:
    shell = get_ipython()  # type: ignore[name-defined]  # noqa: F821
    what_to_do = "If a cell above defines it, run that cell first (menu Run > Run All Above Selected Cell)."

    def show(shell, kind, error, trace, tb_offset=None):  # type: ignore[no-untyped-def]
        last = trace
        while last.tb_next:
            last = last.tb_next
        if last.tb_frame.f_code.co_name == "<module>":  # in the cell itself; inside a function it is a slip
            error.args = (f"{error}. {what_to_do}",)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc((NameError,), show)


_help_with_lost_names()
del _help_with_lost_names
