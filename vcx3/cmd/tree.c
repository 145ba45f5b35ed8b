/* SPDX-License-Identifier: BSD-3-Clause */

/* See tree.h. Files and their readers: connectx3-device.md A.2 to A.4. */

#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define PCI_DEVICE VCX3_DIR_PCI "/" VCX3_PCI_ADDRESS
#define IB_CLASS VCX3_DIR_SYSFS "/class/infiniband/" VCX3_IBDEV
#define VERBS_CLASS VCX3_DIR_SYSFS "/class/infiniband_verbs/"

/* GIDs of a port: as many files as QUERY_PORT reports (B.4). */
#define GIDS 2

/* Lines of the resource file: six BARs, the ROM, six of SR-IOV. */
#define PCI_RESOURCES 13

/* What the functions below build on; error is the first failure, later calls do nothing. */
struct builder {
	const char *dir;
	int error;
	char failed[512];
};

static void
fail(struct builder *builder, const char *path)
{
	if (builder->error == 0) {
		builder->error = -errno;
		snprintf(builder->failed, sizeof(builder->failed), "%s", path);
	}
}

/* Makes all folders above the file. */
static void
make_parents(struct builder *builder, char *path)
{
	char *slash;

	for (slash = strchr(path + strlen(builder->dir) + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0755) != 0 && errno != EEXIST)
			fail(builder, path);
		*slash = '/';
	}
}

/* Writes one file, its name as a format as well. */
static void
put_bytes(struct builder *builder, const char *name, const void *bytes, size_t length)
{
	char path[512];
	int fd;

	if (builder->error != 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", builder->dir, name);
	make_parents(builder, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, bytes, length) != (ssize_t)length)
		fail(builder, path);
	if (fd >= 0)
		close(fd);
}

static void __attribute__((format(printf, 3, 4)))
put(struct builder *builder, const char *name, const char *format, ...)
{
	char text[1024];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text) - 1, format, args);
	va_end(args);
	text[length++] = '\n';
	put_bytes(builder, name, text, length);
}

static void
put_link(struct builder *builder, const char *name, const char *target)
{
	char path[512];

	if (builder->error != 0)
		return;
	snprintf(path, sizeof(path), "%s/%s", builder->dir, name);
	make_parents(builder, path);
	if (symlink(target, path) != 0)
		fail(builder, path);
}

static unsigned int
pci_device_id(const struct vcx3_options *options)
{
	switch (options->identity) {
	case VCX3_IDENTITY_CX3PRO:
		return 0x1007;
	case VCX3_IDENTITY_VF:
		return 0x1004;
	default:
		return 0x1003;
	}
}

/* The PCI function, as the kernel shows it and as DPDK's bus scans it. */
static void
put_pci(struct builder *builder, const struct vcx3_options *options)
{
	unsigned int id = pci_device_id(options);
	/* Configuration space: what lspci decodes. BARs read as unassigned. */
	uint8_t config[256] = {0xb3, 0x15, id & 0xff, id >> 8, 0x06, 0x00, 0x10, 0x00,
			       0x00, 0x00, 0x00, 0x02, 0x10};
	char resource[PCI_RESOURCES * 60];
	size_t used = 0;
	int i;

	config[0x2c] = 0xb3;
	config[0x2d] = 0x15;
	config[0x2e] = 0x55;
	put(builder, PCI_DEVICE "/vendor", "0x15b3");
	put(builder, PCI_DEVICE "/device", "0x%04x", id);
	put(builder, PCI_DEVICE "/subsystem_vendor", "0x15b3");
	put(builder, PCI_DEVICE "/subsystem_device", "0x0055");
	put(builder, PCI_DEVICE "/class", "0x020000");
	put(builder, PCI_DEVICE "/revision", "0x00");
	put(builder, PCI_DEVICE "/irq", "0");
	put(builder, PCI_DEVICE "/numa_node", "-1");
	put(builder, PCI_DEVICE "/max_vfs", "0");
	put(builder, PCI_DEVICE "/modalias", "pci:v000015B3d%08Xsv000015B3sd00000055bc02sc00i00",
	    id);
	put(builder, PCI_DEVICE "/uevent",
	    "DRIVER=mlx4_core\nPCI_CLASS=20000\nPCI_ID=15B3:%04X\nPCI_SUBSYS_ID=15B3:0055\n"
	    "PCI_SLOT_NAME=" VCX3_PCI_ADDRESS, id);
	for (i = 0; i < PCI_RESOURCES; i++)
		used += snprintf(resource + used, sizeof(resource) - used,
				 "0x%016x 0x%016x 0x%016x\n", 0, 0, 0);
	put_bytes(builder, PCI_DEVICE "/resource", resource, used);
	put_bytes(builder, PCI_DEVICE "/config", config, sizeof(config));
	put_link(builder, PCI_DEVICE "/driver", "../../drivers/mlx4_core");
	put_bytes(builder, VCX3_DIR_BUS "/drivers/mlx4_core/new_id", "", 0);
	put_link(builder, VCX3_DIR_BUS "/drivers/mlx4_core/" VCX3_PCI_ADDRESS,
		 "../../devices/" VCX3_PCI_ADDRESS);
}

/* The GUID of a node is made of a MAC as EUI-64 (IEEE), the second byte's bit 1 as it is. */
static void
guid_text(const uint8_t mac[6], char text[20])
{
	snprintf(text, 20, "%02x%02x:%02x00:00%02x:%02x%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
}

static void
put_gids(struct builder *builder, unsigned int port, const struct vcx3_netdev *netdev)
{
	const uint8_t *mac = netdev->mac;
	char name[128];
	int i;

	for (i = 0; i < GIDS; i++) {
		snprintf(name, sizeof(name), IB_CLASS "/ports/%u/gids/%d", port, i);
		put(builder, name, "fe80:0000:0000:0000:%02x%02x:%02xff:fe%02x:%02x%02x",
		    mac[0] ^ 2, mac[1], mac[2], mac[3], mac[4], mac[5]);
		snprintf(name, sizeof(name), IB_CLASS "/ports/%u/gid_attrs/types/%d", port, i);
		put(builder, name, "%s", i == 0 ? "IB/RoCE v1" : "RoCE v2");
		snprintf(name, sizeof(name), IB_CLASS "/ports/%u/gid_attrs/ndevs/%d", port, i);
		if (netdev->name[0] != '\0')
			put(builder, name, "%s", netdev->name);
	}
	snprintf(name, sizeof(name), IB_CLASS "/ports/%u/pkeys/0", port);
	put(builder, name, "0xffff");
	snprintf(name, sizeof(name), IB_CLASS "/ports/%u/link_layer", port);
	put(builder, name, netdev->name[0] != '\0' ? "Ethernet" : "InfiniBand");
	snprintf(name, sizeof(name), IB_CLASS "/ports/%u/state", port);
	put(builder, name, "4: ACTIVE");
}

static void
put_infiniband(struct builder *builder, const struct vcx3_options *options,
	       const struct vcx3_shared *shared)
{
	char guid[20], target[512];
	unsigned int port;

	guid_text(options->mac, guid);
	snprintf(target, sizeof(target), "%s/" PCI_DEVICE, builder->dir);
	put(builder, VERBS_CLASS "abi_version", "6");
	put(builder, VERBS_CLASS VCX3_UVERBS "/ibdev", VCX3_IBDEV);
	put(builder, VERBS_CLASS VCX3_UVERBS "/dev", "%d:%d", VCX3_UVERBS_MAJOR,
	    VCX3_UVERBS_MINOR);
	put(builder, VERBS_CLASS VCX3_UVERBS "/abi_version", "4");
	put(builder, IB_CLASS "/node_type", "1: CA");
	put(builder, IB_CLASS "/node_guid", "%s", guid);
	put(builder, IB_CLASS "/sys_image_guid", "%s", guid);
	put(builder, IB_CLASS "/board_id", "MT_1090120019");
	put(builder, IB_CLASS "/fw_ver", "%d.%d.%d", VCX3_FIRMWARE_MAJOR, VCX3_FIRMWARE_MINOR,
	    VCX3_FIRMWARE_PATCH);
	put_link(builder, IB_CLASS "/device", target);
	for (port = 1; port <= options->ports; port++)
		put_gids(builder, port, &shared->netdev[port - 1]);
}

static void
put_netdev(struct builder *builder, unsigned int port, const struct vcx3_netdev *netdev)
{
	const uint8_t *mac = netdev->mac;
	char name[128];

#define FILE_OF(file) (snprintf(name, sizeof(name), PCI_DEVICE "/net/%s/" file, netdev->name), name)
	put(builder, FILE_OF("dev_port"), "%u", port - 1);
	put(builder, FILE_OF("dev_id"), "0x0");
	put(builder, FILE_OF("ifindex"), "%u", netdev->index);
	put(builder, FILE_OF("address"), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
	    mac[3], mac[4], mac[5]);
	put(builder, FILE_OF("mtu"), "%u", netdev->mtu);
#undef FILE_OF
}

/* Virtual netdevs get an index that no interface of this machine has. */
#define VIRTUAL_INDEX 0x7fff0000

static int
fill_netdevs(struct vcx3_shared *shared, const struct vcx3_options *options, char *reason,
	     size_t size)
{
	unsigned int i;

	for (i = 0; i < options->ports; i++) {
		struct vcx3_netdev *netdev = &shared->netdev[i];
		int ret;

		memcpy(netdev->mac, options->mac, sizeof(netdev->mac));
		netdev->mac[5] += i;
		netdev->tap_fd = -1;
		netdev->mtu = options->mtu;
		netdev->flags = IFF_UP | IFF_BROADCAST | IFF_MULTICAST;
		netdev->running = 1;
		netdev->speed_mbps = options->speed_mbps;
		netdev->pause_rx = 1;
		netdev->pause_tx = 1;
		if (options->infiniband_port_mask >> i & 1)
			continue;
		snprintf(netdev->name, sizeof(netdev->name), "mlx4p%u", i + 1);
		netdev->index = VIRTUAL_INDEX + i;
		if (options->netdev == VCX3_NETDEV_TAP) {
			ret = vcx3_tap_create(netdev, reason, size);
			if (ret < 0)
				return ret;
		}
	}
	return 0;
}

/* The shared state lives in a file that every process of the launcher's maps. */
static int
create_shared(struct vcx3_tree *tree, char *reason, size_t size)
{
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/" VCX3_FILE_SHARED, tree->dir);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*tree->shared)) != 0)
		goto failed;
	tree->shared = mmap(NULL, sizeof(*tree->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (tree->shared == MAP_FAILED) {
		tree->shared = NULL;
		goto failed;
	}
	close(fd);
	tree->shared->launcher = getpid();
	return 0;

failed:
	snprintf(reason, size, "cannot make %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -EIO;
}

/* The words of the options, one after the other, each with its zero byte. */
static void
put_args(struct builder *builder, int nb, char **words)
{
	char bytes[16384];
	size_t used = 0;
	int i;

	for (i = 0; i < nb; i++) {
		size_t length = strlen(words[i]) + 1;

		if (used + length > sizeof(bytes)) {
			errno = E2BIG;
			fail(builder, VCX3_FILE_ARGS);
			return;
		}
		memcpy(bytes + used, words[i], length);
		used += length;
	}
	put_bytes(builder, VCX3_FILE_ARGS, bytes, used);
}

int
vcx3_tree_create(struct vcx3_tree *tree, const struct vcx3_options *options, int nb,
		 char **words, char *reason, size_t size)
{
	const char *tmp = getenv("TMPDIR");
	struct builder builder = {.dir = tree->dir};
	unsigned int i;
	int ret;

	snprintf(tree->dir, sizeof(tree->dir), "%.200s/vcx3-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(tree->dir) == NULL) {
		snprintf(reason, size, "cannot make the folder %s: %s", tree->dir, strerror(errno));
		tree->dir[0] = '\0';
		return -EIO;
	}
	ret = create_shared(tree, reason, size);
	if (ret < 0)
		return ret;
	ret = fill_netdevs(tree->shared, options, reason, size);
	if (ret < 0)
		return ret;
	put_pci(&builder, options);
	put_infiniband(&builder, options, tree->shared);
	for (i = 0; i < options->ports; i++)
		if (tree->shared->netdev[i].name[0] != '\0')
			put_netdev(&builder, i + 1, &tree->shared->netdev[i]);
	put_args(&builder, nb, words);
	if (builder.error < 0)
		snprintf(reason, size, "cannot write %s: %s", builder.failed,
			 strerror(-builder.error));
	return builder.error;
}

static int
remove_one(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	remove(path);
	return 0;
}

void
vcx3_tree_remove(const char *dir)
{
	if (dir[0] != '\0')
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
