/** Why a listener could not listen. */

import type { Address, Config, SettingSource } from '../../config/config.ts'
import { codeOf, type Finding, settingOf, SurroundingsFault, thisUser } from './fault.ts'

/** Ports below it need a privilege, where the system does not say otherwise. */
const FIRST_UNPRIVILEGED = 1024

/** Where the address of a listener is written. */
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
    const describe = FINDINGS[codeOf(cause)]
    throw describe === undefined || address === undefined
      ? cause
      : new SurroundingsFault(source, describe(address, settingOf(source)))
  }
}

type Describe = (address: Address, setting: string) => Finding

const FINDINGS: Readonly<Record<string, Describe>> = {
  EADDRINUSE: ({ host, port }, setting) => ({
    cause: `port ${port} of ${host} is in use by another process (EADDRINUSE)`,
    advice: `Stop that process, which "ss -ltnp sport = :${port}" shows, or choose another port in ${setting}`,
  }),
  EACCES: forbidden,
  EPERM: forbidden,
  EADDRNOTAVAIL: ({ host }, setting) => ({
    cause: `this machine has no address ${host} (EADDRNOTAVAIL)`,
    advice: `Choose one of its addresses in ${setting}, or 0.0.0.0 for all of them`,
  }),
  EAFNOSUPPORT: ({ host }, setting) => ({
    cause: `this machine has no IPv6, which ${host} needs (EAFNOSUPPORT)`,
    advice: `Choose an IPv4 address in ${setting}`,
  }),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
}

function forbidden({ port }: Address, setting: string): Finding {
  if (port >= FIRST_UNPRIVILEGED)
    return {
      cause: `the system forbids ${thisUser()} to listen on port ${port} (EACCES)`,
      advice: `Permit it in the security policy of this machine, or choose another port in ${setting}`,
    }
  return {
    cause: `port ${port} is below ${FIRST_UNPRIVILEGED}, and ${thisUser()} may not listen on it (EACCES)`,
    advice: `Choose a port from ${FIRST_UNPRIVILEGED} in ${setting}, or permit this one: AmbientCapabilities=CAP_NET_BIND_SERVICE in the systemd unit, or "sysctl net.ipv4.ip_unprivileged_port_start=${port}"`,
  }
}

function unknownHost({ host }: Address, setting: string): Finding {
  return {
    cause: `the host name ${host} is unknown`,
    advice: `Correct it in ${setting}, or use an address of this machine`,
  }
}
