/**
 * The listeners: `listen:`, which is one address or a list of listeners with or without TLS, `ops:` and
 * `decision:`.
 */

import {
  type Address,
  address,
  addressesConflict,
  cidr,
  isEveryAddress,
  isEveryone,
  origin,
} from './addresses.ts'
import { listenerTls } from './listener-tls.ts'
import type { Section, SettingSource } from './section.ts'
import { flag, list, map, optional, required, setting, text } from './setting.ts'

const ADDRESS = { title: 'address', pattern: '^.+:[0-9]{1,5}$' }

const listener = map(
  '',
  {
    address: required(text('Address of this listener.', address, { ...ADDRESS, examples: ['0.0.0.0:8443'] })),
    tls: optional(listenerTls),
    http2: flag('Offer HTTP/2 by ALPN, in addition to HTTP/1.1. Requires tls.'),
  },
  (values, section) => {
    if (values.http2 && !section.has('tls'))
      section.fault('http2', 'http2: needs tls, as HTTP/2 is negotiated by ALPN: add tls, or remove http2')
    return values.address === null
      ? null
      : Object.freeze({ ...values.address, tls: values.tls, http2: values.http2 })
  },
)

export type ListenerConfig = NonNullable<ReturnType<typeof listener.of>>

const single = text(
  'Address of the public listener, which serves proxied routes, the Seat and API key endpoints, and sign-in. Port 0 picks a free port. A list configures several listeners. Changing an address, or switching between plain HTTP and TLS, requires a restart.',
  address,
  { default: '0.0.0.0:8080', examples: ['[::]:8080'] },
)

/** The public listeners, at least one unless each has a fault. */
export const listen = setting(
  { ...single.schema, type: ['string', 'array'], minItems: 1, items: listener.schema },
  (root, key): readonly ListenerConfig[] => {
    if (!Array.isArray(root.value(key)))
      return Object.freeze([Object.freeze({ ...single.read(root, key), tls: null, http2: false })])
    const built: ListenerConfig[] = []
    for (const section of root.sections(key)) {
      const each = listener.of(section)
      if (each === null) continue
      if (built.some((other) => addressesConflict(other, each)))
        section.fault(
          'address',
          'address: two listeners cannot share an address and port: choose another port',
        )
      built.push(each)
    }
    return Object.freeze(built)
  },
)

export const ops = text(
  "Address of the operators' listener, which serves /livez, /readyz and /metrics. It requires no credential, so keep it on an internal network.",
  address,
  { ...ADDRESS, default: '127.0.0.1:9090', examples: ['0.0.0.0:9090'] },
)

/** The listener for decision requests of other proxies; null: it is absent, or its address has a fault. */
export const decision = optional(
  map(
    'A listener that tells other proxies (nginx, Caddy, Traefik, HAProxy, Envoy) whether they may forward a request. Without this key, there is none. Adding it, removing it or changing its address requires a restart.',
    {
      listen: required(
        text(
          'Address of the decision listener. It answers every address in clients, so keep it on an internal network. It accepts HTTP/1.1, and HTTP/2 with prior knowledge.',
          address,
          { ...ADDRESS, examples: ['127.0.0.1:9191'] },
        ),
      ),
      clients: list(
        'Addresses and CIDR blocks of the proxies that may request decisions. Their X-Forwarded-For identifies the client. Other peers get 403. By default, only this machine may connect.',
        cidr,
        { minItems: 1, default: ['127.0.0.0/8', '::1'], items: { examples: ['10.0.0.0/8'] } },
      ),
      url: text(
        'The origin at which others reach this listener, for example through a load balancer with TLS. Documents that describe the listener contain it.',
        origin,
        { examples: ['https://decisions.internal'] },
      ),
    },
    ({ listen, clients, url }, section) => {
      if (clients.some(isEveryone))
        section.warn(
          'clients',
          'everyone_trusted',
          'clients: any machine can ask, and name any client in its questions: list the addresses of the proxies',
        )
      // Without the final slash of a URL.
      return listen === null ? null : Object.freeze({ listen, clients, url: url?.origin ?? null })
    },
  ),
)

interface Addresses {
  readonly listen: readonly ListenerConfig[]
  readonly ops: Address
  readonly decision: ReturnType<typeof decision.read>
}

/** Reports listeners that share an address and port, and an `ops` that other machines reach. */
export function checkAddresses({ listen, ops, decision }: Addresses, root: Section): void {
  const isValid = (key: string) => !root.has(key) || root.value(key) !== undefined
  if (isValid('listen') && isValid('ops') && listen.some((each) => addressesConflict(each, ops))) {
    const key = root.has('ops') ? 'ops' : 'listen'
    root.fault(key, `${key}: listen and ops cannot share an address and port: choose another port`)
  }
  if (root.value('ops') !== undefined && isEveryAddress(ops))
    root.warn(
      'ops',
      'ops_open',
      `ops: asks for no credential, and accepts connections on every address of this machine`,
    )
  if (decision === null) return
  const others = [...listen.map((each) => ['listen', each] as const), ['ops', ops] as const]
  const other = others.find(([, each]) => addressesConflict(each, decision.listen))
  if (other !== undefined)
    root
      .section('decision')
      .fault(
        'listen',
        `listen: decision and ${other[0]} cannot share an address and port: choose another port`,
      )
}

/** The places of the listeners' addresses. */
export function sourcesOfListeners(root: Section): readonly SettingSource[] {
  if (!Array.isArray(root.value('listen'))) return Object.freeze([root.source('listen')])
  const sections = root.sections('listen').filter((section) => section.has('address'))
  return Object.freeze(sections.map((section) => section.source('address')))
}
