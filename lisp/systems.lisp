;;;; SPDX-License-Identifier: GPL-3.0-or-later
(in-package #:ecl-mcp)
