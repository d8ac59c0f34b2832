/* SPDX-License-Identifier: Apache-2.0 */
extern int NAME(void);
int NAME(void) { return 0; }
