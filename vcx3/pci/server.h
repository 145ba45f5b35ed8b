/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef VCX3_PCI_SERVER_H
#define VCX3_PCI_SERVER_H

/** `vcx3 pci --socket PATH [options]`; words start behind "pci". Returns the exit status. */
int vcx3_pci_server(int nb, char **words);

#endif
