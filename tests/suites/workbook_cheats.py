"""Programs that want a workbook counted as right without solving anything, or the grader to give up on it.

The task doubles a column: cells B2:B4 of the sheet `Data` are to hold 2, 4 and 6.
"""

from __future__ import annotations

_BOOK = "import openpyxl\nbook = openpyxl.load_workbook(INPUT_PATH)\nsheet = book.worksheets[0]\n"
_SAVE = "book.save(OUTPUT_PATH)\n"

HONEST = _BOOK + "for row in sheet.iter_rows(min_row=2):\n    row[1].value = 2 * row[0].value\n" + _SAVE

CHEATS: dict[str, str] = {
    "the input as it is": "import shutil\nshutil.copy(INPUT_PATH, OUTPUT_PATH)\n",
    "a search for the expected workbook": "import glob, shutil\nfor path in glob.glob('/**/*.xlsx', recursive=True):\n    shutil.copy(path, OUTPUT_PATH) if path != OUTPUT_PATH else 0\n",
    "a link to the input": "import os\nos.symlink(INPUT_PATH, OUTPUT_PATH)\n",
    "a link to files of the machine": "import os\nos.symlink('/proc/self/root/etc/passwd', OUTPUT_PATH)\n",
    "a link to where the answer may be": "import os\nos.symlink('../../out.xlsx', OUTPUT_PATH)\n",
    "a pipe": "import os\nos.mkfifo(OUTPUT_PATH)\n",
    "a folder": "import os\nos.mkdir(OUTPUT_PATH)\n",
    "a file that nobody may read": "open(OUTPUT_PATH, 'w').write('x')\nimport os\nos.chmod(OUTPUT_PATH, 0)\n",
    "texts that look equal": _BOOK + "for r in (2, 3, 4):\n    sheet.cell(r, 2).value = '2.0 '\n" + _SAVE,
    "errors": _BOOK + "for r in (2, 3, 4):\n    sheet.cell(r, 2).value = '#N/A'\n" + _SAVE,
    "formulas without values": _BOOK + "for r in (2, 3, 4):\n    sheet.cell(r, 2).value = f'=2*A{r}'\n" + _SAVE,
    "not a number": _BOOK + "for r in (2, 3, 4):\n    sheet.cell(r, 2).value = float('nan')\n" + _SAVE,
    "a second sheet of nearly the same name": _BOOK + "book.create_sheet('data')['B2'] = 2\n" + _SAVE,
    "merged cells": _BOOK + "sheet.merge_cells('B2:B4')\nsheet['B2'] = 2\n" + _SAVE,
    "an archive cut off": _BOOK + _SAVE + "data = open(OUTPUT_PATH, 'rb').read()\nopen(OUTPUT_PATH, 'wb').write(data[:-300])\n",
    "parts that cannot be decompressed": _BOOK + _SAVE + "data = bytearray(open(OUTPUT_PATH, 'rb').read())\n"
    "for at in range(60, len(data) - 900, 5):\n    data[at] ^= 255\nopen(OUTPUT_PATH, 'wb').write(data)\n",
    "an archive with a method that nobody has": "import zipfile\nz = zipfile.ZipFile(OUTPUT_PATH, 'w')\nz.writestr('xl/workbook.xml', 'x' * 100)\n"
    "z.close()\nd = open(OUTPUT_PATH, 'rb').read().replace(b'PK\\x01\\x02\\x14\\x03\\x14\\0\\0\\0\\0\\0', b'PK\\x01\\x02\\x14\\x03\\x14\\0\\0\\0\\x63\\0')\nopen(OUTPUT_PATH, 'wb').write(d)\n",
    "a bomb": "import zipfile\nwith zipfile.ZipFile(OUTPUT_PATH, 'w', zipfile.ZIP_DEFLATED) as z:\n    z.writestr('xl/workbook.xml', b'\\0' * (200 << 20))\n",
    "an encrypted archive": _BOOK + _SAVE + "d = bytearray(open(OUTPUT_PATH, 'rb').read())\nd[6] |= 1\ni = d.find(b'PK\\x01\\x02')\nd[i + 8] |= 1\nopen(OUTPUT_PATH, 'wb').write(d)\n",
    "a document type with entities": _BOOK + _SAVE + "import zipfile\nz = zipfile.ZipFile(OUTPUT_PATH, 'a')\n"
    "z.writestr('xl/worksheets/sheet1.xml', '<!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>')\nz.close()\n",
    "no sheets": _BOOK + _SAVE + "import zipfile\nz = zipfile.ZipFile(OUTPUT_PATH, 'a')\nz.writestr('xl/workbook.xml', '<workbook/>')\nz.close()\n",
    "a process that writes later": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(2)\n" + "".join(f"    {line}\n" for line in (_BOOK + _SAVE).splitlines()) + "    os._exit(0)\n",
    "the working folder is gone": "import shutil\nshutil.rmtree('/workspace', ignore_errors=True)\n",
    "an exit that looks like success": "import os\nos._exit(0)\n",
    "another openpyxl for the grader": "open('/workspace/openpyxl.py', 'w').write('raise SystemExit')\n" + _BOOK + _SAVE,
}  # fmt: skip
