/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rights.h: gives up what makes root different from other users. */
#ifndef TESTS_SUPPORT_RIGHTS_H
#define TESTS_SUPPORT_RIGHTS_H

/* From now on the modes of files bind this process, which root would ignore; it
   still owns root's files. Programs that it starts have all rights again. */
void rights_heed_modes(void);

#endif
