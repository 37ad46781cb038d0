/** Builds `decision:`, the listener that answers other proxies. */

import { address, addressesConflict, cidr, origin } from './addresses.ts'
import type { Address, DecisionConfig } from './config.ts'
import { InvalidValue } from './invalid-value.ts'
import type { Section } from './section.ts'

/** @param others addresses of the other listeners @returns null where the section is absent or its address is faulty */
export function buildDecision(root: Section, others: readonly Address[]): DecisionConfig | null {
  if (!root.has('decision')) return null
  const section = root.section('decision')
  const listen = section.text('listen', address)
  const clients = section.has('clients') ? section.texts('clients', cidr) : DEFAULT_CLIENTS
  const url = section.text('url', publicOrigin) ?? null
  if (listen === undefined) return null
  if (others.some((each) => addressesConflict(each, listen)))
    section.fault('listen', 'listen: another listener of the gateway has this address and port')
  return Object.freeze({ listen, clients: Object.freeze(clients), url })
}

/** This machine. The same as in the schema. */
const DEFAULT_CLIENTS = ['127.0.0.0/8', '::1']

function publicOrigin(text: string): string | InvalidValue {
  const url = origin(text)
  return url instanceof InvalidValue ? url : url.origin
}
