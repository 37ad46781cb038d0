/** Builds `decision:`, the listener that answers other proxies. */

import { address, addressesConflict, cidr, isEveryone, origin } from './addresses.ts'
import type { Address, DecisionConfig } from './config.ts'
import { InvalidValue } from './invalid-value.ts'
import type { Section } from './section.ts'

/**
 * @param others addresses of the other listeners, by their settings
 * @returns null where the section is absent or its address is faulty
 */
export function buildDecision(
  root: Section,
  others: Readonly<Record<string, readonly Address[]>>,
): DecisionConfig | null {
  if (!root.has('decision')) return null
  const section = root.section('decision')
  const listen = section.text('listen', address)
  const clients = section.has('clients') ? section.texts('clients', cidr) : DEFAULT_CLIENTS
  if (clients.some(isEveryone))
    section.warn(
      'clients',
      'everyone_trusted',
      'clients: any machine can ask, and name any client in its questions: list the addresses of the proxies',
    )
  const url = section.text('url', publicOrigin) ?? null
  if (listen === undefined) return null
  const other = Object.keys(others).find((key) =>
    others[key]?.some((each) => addressesConflict(each, listen)),
  )
  if (other !== undefined)
    section.fault(
      'listen',
      `listen: decision and ${other} cannot share an address and port: choose another port`,
    )
  return Object.freeze({ listen, clients: Object.freeze(clients), url })
}

/** This machine. The same as in the schema. */
const DEFAULT_CLIENTS = ['127.0.0.0/8', '::1']

function publicOrigin(text: string): string | InvalidValue {
  const url = origin(text)
  return url instanceof InvalidValue ? url : url.origin
}
