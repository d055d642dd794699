"""Names that assembly stations are drawn from; every second one belongs to each split."""

from streamdecisionbench.suite.generation.draws import Pool

PEOPLE = Pool(
    (
        "Alma Brandt", "Bero Castell", "Cora Dines", "Dov Ehlert", "Esra Fink", "Filip Gerdes",
        "Gisa Holm", "Haro Ilves", "Inga Jansky", "Jory Kessel", "Karin Lofts", "Levi Mertz",
        "Mona Nyberg", "Noel Ostrow", "Olga Pruett", "Per Quast", "Rita Solheim", "Sven Tamm",
        "Tilda Urban", "Uwe Vance", "Vera Wicks", "Wim Yates", "Yara Zoller", "Zoe Amsel",
    )
)  # fmt: skip

COMPLAINTS = (
    "sheet not signed", "dropped on the way here", "label torn", "customer wants a second look",
    "part of an audit", "tray number missing",
)  # fmt: skip
"""Subjects of tickets that can be about any unit at any time."""

STATIONS = Pool(("A2", "B4", "C7", "D1", "E5", "F8", "G3", "H9", "L2", "M6", "N4", "R7"))
