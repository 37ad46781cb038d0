/** Opens the listener that answers other proxies, with its endpoints. */

import type { Config, DecisionConfig } from '../config/config.ts'
import { AUTHZEN_PATHS } from '../external-authorization/authzen/discovery.ts'
import { DecisionHandler } from '../external-authorization/handler.ts'
import { envoyGrpcEndpoint } from '../external-authorization/envoy-grpc/envoy-grpc-endpoint.ts'
import { httpEndpoints } from '../external-authorization/http-endpoints.ts'
import { openRequestListener } from '../http/server/listener.ts'
import type { ListenerEvents, ListenerSettings, RequestListener } from '../http/server/listener-options.ts'
import { Refusal } from '../model/errors.ts'
import type { Pipeline } from '../pipeline/pipeline.ts'
import { peerAddress, TrustedProxies } from '../proxy/forwarded.ts'

export interface DecisionListener {
  readonly listener: RequestListener
  /** Applies to new connections and questions; closes the connections of peers that are no longer admitted. The address stays. */
  configure(config: Config): void
}

export interface DecisionListenerOptions {
  readonly pipeline: Pipeline
  /** Serves AuthZEN. */
  readonly authzen: Pipeline
  readonly events: ListenerEvents
  /** The port is shared with other workers. */
  readonly shared: boolean
  readonly config: Config
}

const peerRefused = new Refusal('peer_refused', 'The address of the peer is not in decision.clients.')

/** Rejects with the error of Node.js where the address can't be bound. */
export async function openDecisionListener(
  decision: DecisionConfig,
  { pipeline, authzen, events, shared, config }: DecisionListenerOptions,
): Promise<DecisionListener> {
  let trusted = new TrustedProxies(config.trustedProxies)
  const proxies = () => trusted
  const endpoints = [
    ...httpEndpoints(pipeline, proxies),
    envoyGrpcEndpoint(pipeline, proxies),
    ...AUTHZEN_PATHS.map((path) => ({ path, pipeline: authzen, handle: authzen.handle.bind(authzen) })),
  ]
  const handler = new DecisionHandler(pipeline, endpoints)
  const settings = settingsOf(config, decision)
  const listener = await openRequestListener(decision.listen, handler, { settings, events, shared })
  return {
    listener,
    configure(next) {
      trusted = new TrustedProxies(next.trustedProxies)
      listener.configure(settingsOf(next, next.decision ?? decision))
    },
  }
}

/** A connection of a proxy carries questions of many clients: no bound by address applies to it. */
function settingsOf({ limits, memory }: Config, { clients }: DecisionConfig): ListenerSettings {
  const admitted = new TrustedProxies(clients)
  return {
    limits,
    proxyProtocol: false,
    trusts: () => false,
    memory: memory.connections,
    clientOf: () => null,
    priorKnowledge: true,
    shared: true,
    refusalOf: (peer) => (admitted.has(peerAddress(peer)) ? null : peerRefused),
    stall: limits.bodyTimeout,
  }
}
