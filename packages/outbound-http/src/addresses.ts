import ipaddr from 'ipaddr.js';

// The package is CommonJS, whose names Node does not export to modules.
const { IPv4, IPv6, isValid, parseCIDR } = ipaddr;
type Address = ReturnType<typeof ipaddr.process>;
type Network = ReturnType<typeof parseCIDR>;

/** All global unicast addresses of IPv6 (RFC 4291 section 2.4). */
const GLOBAL_UNICAST: Network = IPv6.parseCIDR('2000::/3');

/** The metadata service of Azure, which has an address in a public range. */
const AZURE_HOST: Network = IPv4.parseCIDR('168.63.129.16/32');

const isIn = (address: Address, [network, bits]: Network): boolean =>
  address.kind() === network.kind() && address.match(network as never, bits);

const isPublic = (address: Address): boolean =>
  address.range() === 'unicast' &&
  !isIn(address, AZURE_HOST) &&
  (address.kind() === 'ipv4' || isIn(address, GLOBAL_UNICAST));

/** Whether requests may be sent to an IP address, given as text. */
export type IsAllowedAddress = (address: string) => boolean;

/**
 * Allows public addresses and those of the given networks (CIDR notation, such as `10.1.0.0/16`). Refuses
 * private, loopback, link-local, carrier-grade NAT, multicast, reserved, tunnel and metadata addresses. An
 * IPv4-mapped IPv6 address is checked as the IPv4 address. Throws when a network is invalid.
 */
export const allowedAddresses = (allowedNetworks: readonly string[]): IsAllowedAddress => {
  const networks = allowedNetworks.map((network) => parseCIDR(network));
  return (text) => {
    if (!isValid(text)) return false;
    const address = ipaddr.process(text);
    return networks.some((network) => isIn(address, network)) || isPublic(address);
  };
};
