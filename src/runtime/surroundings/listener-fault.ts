/** Why a listener could not listen. */

import type { Address, Config, SettingSource } from '../../config/config.ts'
import { codeOf, settingOf, SurroundingsFault, thisUser } from './fault.ts'
import { findingTable } from './finding-table.ts'

/** Ports below it need a privilege, unless the system is configured otherwise. */
const FIRST_UNPRIVILEGED = 1024

const FORBIDDEN = new Set(['EACCES', 'EPERM'])

const findings = findingTable({
  EADDRINUSE: [
    'port {port} of {host} is in use by another process (EADDRINUSE)',
    'Stop that process, which "ss -ltnp sport = :{port}" shows, or choose another port in {setting}',
  ],
  'EACCES EPERM': [
    'the system forbids {user} to listen on port {port} (EACCES)',
    'Permit it in the security policy of this machine, or choose another port in {setting}',
  ],
  PRIVILEGED: [
    'port {port} is below {first}, and {user} may not listen on it (EACCES)',
    'Choose a port from {first} in {setting}, or permit this one: AmbientCapabilities=CAP_NET_BIND_SERVICE in the systemd unit, or "sysctl net.ipv4.ip_unprivileged_port_start={port}"',
  ],
  EADDRNOTAVAIL: [
    'this machine has no address {host} (EADDRNOTAVAIL)',
    'Choose one of its addresses in {setting}, or 0.0.0.0 for all of them',
  ],
  EAFNOSUPPORT: [
    'this machine has no IPv6, which {host} needs (EAFNOSUPPORT)',
    'Choose an IPv4 address in {setting}',
  ],
  'ENOTFOUND EAI_AGAIN': [
    'the host name {host} is unknown',
    'Correct it in {setting}, or use an address of this machine',
  ],
})

/** The setting that has the address of a listener. */
export function listenerSource({ sources }: Pick<Config, 'sources'>, at: number): SettingSource {
  return sources.listeners[at] ?? sources.listen
}

/** Rejects with a SurroundingsFault for an error of the operating system. */
export async function explainListening<V>(
  address: Address | undefined,
  source: SettingSource,
  listen: () => Promise<V>,
): Promise<V> {
  try {
    return await listen()
  } catch (cause) {
    if (address === undefined) throw cause
    const { host, port } = address
    const code = codeOf(cause)
    const key = FORBIDDEN.has(code) && port < FIRST_UNPRIVILEGED ? 'PRIVILEGED' : code
    const values = { host, port, setting: settingOf(source), user: thisUser(), first: FIRST_UNPRIVILEGED }
    const finding = findings(key, values)
    throw finding === null ? cause : new SurroundingsFault(source, finding)
  }
}
