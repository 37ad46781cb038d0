/**
 * Examines store, Redis, identity providers and targets as this machine reaches them, and changes none of
 * them.
 */

import { inspectStore, StoreUnavailable } from '../../../seats-admin/index.ts'
import { soon } from '../../config/pem.ts'
import type { Config, OidcConfig, SettingSource, UpstreamConfig } from '../../config/config.ts'
import type { Fault, OnlineFault, Warning, WarningCode } from '../../config/faults.ts'
import { type ProviderProxies, proxyFor, proxyText } from '../../config/provider-proxies.ts'
import {
  inspectIssuer,
  inspectProvider,
  inspectRevocationKeys,
  inspectTransmitter,
  type ProviderInspection,
} from '../../oidc/provider/inspect-provider.ts'
import { inspectTarget } from '../../proxy/inspect-target.ts'
import { inspectRedis } from '../../redis/inspect-redis.ts'
import { printable } from '../../telemetry/readable.ts'
import { faultAt, type Finding, settingOf } from './fault.ts'
import { clockFinding, providerFinding } from './provider-fault.ts'
import { redisFinding } from './redis-fault.ts'
import { storeFinding } from './store-fault.ts'
import { healthFinding, targetFinding } from './target-fault.ts'

/** The state of one of them. The message has its key and, for a fault, what to do. */
type Observation =
  | (Fault & { readonly level: 'ok' })
  | (Warning & { readonly level: 'warning' })
  | (OnlineFault & { readonly level: 'fault' })

/** Milliseconds for a connection, and for each answer of PostgreSQL and Redis. */
const TIMEOUT = 5000
/** The most milliseconds for the connection to a target, if its `connect_timeout` is longer. */
const TARGET_TIMEOUT = 5000
/** The tolerance of tokens is 60 s too. */
const MAX_CLOCK_DIFFERENCE = 60_000
/** The error of a provider's clock in ms: its times have whole seconds. */
const CLOCK_ERROR = 1000
/** The most examinations at the same time. */
const CONCURRENCY = 100

type Examination = () => Promise<Observation>

/** @returns the states in the order store, Redis, providers, targets */
export async function observe(config: Config): Promise<Observation[]> {
  const examinations = [
    () => ofStore(config),
    ...ofRedis(config),
    ...ofProviders(config),
    ...ofTargets(config),
  ]
  const observations: Observation[] = []
  let next = 0
  const examineInTurn = async () => {
    for (let at = next++; at < examinations.length; at = next++) {
      const observation = await examinations[at]?.()
      if (observation !== undefined) observations[at] = observation
    }
  }
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, examinations.length) }, examineInTurn))
  return observations
}

async function ofStore(config: Config): Promise<Observation> {
  const { store, sources } = config
  const name = store.kind === 'sqlite' ? store.path : 'the database'
  try {
    const { version, current } = await inspectStore(store, TIMEOUT)
    if (version === null)
      return warning('store_missing', sources.store, {
        cause: `there is no store in ${name} yet`,
        advice: `The start creates it; correct ${settingOf(sources.store)} if there should be one`,
      })
    if (version < current)
      return warning('store_older', sources.store, {
        cause: `the store has version ${version}, this Seatgate has version ${current}`,
        advice:
          'The start migrates it, after which an older Seatgate no longer opens it: make a backup first',
      })
    return ok(sources.store, `${store.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL'}, version ${version}`)
  } catch (cause) {
    if (!(cause instanceof StoreUnavailable)) throw cause
    return fault('store_unavailable', sources.store, storeFinding(config, cause))
  }
}

function ofRedis({ redis, sources }: Config): Examination[] {
  if (redis === null) return []
  const source = sources.redis
  const examine = async () => {
    const elapsed = await inspectRedis(redis, TIMEOUT)
    return ok(source, `${redis.mode} Redis, PING takes ${elapsed.toFixed(1)} ms`)
  }
  return [
    orFault('redis_unavailable', source, examine, (cause) => redisFinding(redis, settingOf(source), cause)),
  ]
}

function ofProviders({ tenants, sources, providerProxies }: Config): Examination[] {
  const limits = { proxies: providerProxies }
  return [...tenants.values()].flatMap(({ id, oidc, issuers = [] }) => [
    ...ofIssuer(oidc, sources.issuers.get(id), limits, inspectProvider),
    ...ofSignals(oidc, sources.issuers.get(id), sources.events.get(id), limits),
    ...issuers.flatMap((config, index) =>
      ofIssuer(config, sources.tokenIssuers.get(id)?.[index], limits, inspectIssuer),
    ),
  ])
}

/** The keys of signals, unless they are those of ID tokens. @param source of the provider */
function ofSignals(
  oidc: OidcConfig | null,
  source: SettingSource | undefined,
  ofEvents: SettingSource | undefined,
  limits: { readonly proxies: ProviderProxies },
): Examination[] {
  if (oidc === null) return []
  const { events, issuer, idTokenSigningAlg } = oidc
  const transmitter = events === null ? null : { oidc, events, issuer: events.issuer ?? issuer }
  const byHmac = oidc.revocation && idTokenSigningAlg !== null ? oidc : null
  return [
    ...ofIssuer(transmitter, ofEvents, limits, inspectTransmitter),
    ...ofIssuer(byHmac, source, limits, inspectRevocationKeys),
  ]
}

function ofIssuer<C extends { readonly issuer: string }>(
  config: C | null,
  source: SettingSource | undefined,
  limits: { readonly proxies: ProviderProxies },
  inspect: (config: C, limits: { readonly proxies: ProviderProxies }) => Promise<ProviderInspection>,
): Examination[] {
  if (config === null || source === undefined) return []
  const { issuer } = config
  const examine = async () => {
    const { keys, clockAhead } = await inspect(config, limits)
    if (clockAhead !== null && Math.abs(clockAhead) > MAX_CLOCK_DIFFERENCE + CLOCK_ERROR)
      return warning('clock_differs', source, clockFinding(issuer, clockAhead))
    const proxy = proxyFor(new URL(issuer), limits.proxies)
    const by = proxy === null ? '' : `, by ${proxyText(proxy)}`
    const signed = keys === null ? 'HS256' : `${keys} usable ${keys === 1 ? 'key' : 'keys'}`
    return ok(source, `${issuer}, ${signed}${by}`)
  }
  return [orFault('provider_unavailable', source, examine, (cause) => providerFinding(issuer, source, cause))]
}

function ofTargets({ upstreams, sources }: Config): Examination[] {
  return [...upstreams.values()].flatMap((upstream) =>
    upstream.targets.flatMap((url, index) => {
      const source = sources.targets.get(upstream.name)?.[index]
      if (source === undefined) return []
      const examine = () => ofTarget(url, upstream, source)
      return [
        orFault('target_unavailable', source, examine, (cause) =>
          targetFinding(url, upstream, source, cause),
        ),
      ]
    }),
  )
}

async function ofTarget(url: URL, upstream: UpstreamConfig, source: SettingSource): Promise<Observation> {
  const timeout = Math.min(upstream.connectTimeout, TARGET_TIMEOUT)
  const { validity, unhealthy } = await inspectTarget(url, upstream, timeout)
  if (unhealthy !== null) return fault('target_unavailable', source, healthFinding(url, upstream, unhealthy))
  const day = validity === null ? null : soon(validity, Date.now())
  if (day !== null)
    return warning('certificate_expires', source, {
      cause: `the certificate of ${url.origin} expires on ${day}`,
      advice: `Renew the certificate of the service ${upstream.name}`,
    })
  const { health } = upstream
  const passes = health === null ? 'accepts connections' : `passes its health check, GET ${health.path}`
  return ok(source, `${url.origin} ${passes}`)
}

function orFault(
  code: OnlineFault['code'],
  source: SettingSource,
  examine: () => Promise<Observation>,
  finding: (cause: Error) => Finding,
): Examination {
  return () =>
    examine().catch((cause: unknown) =>
      fault(code, source, finding(cause instanceof Error ? cause : new Error(String(cause)))),
    )
}

function ok({ key, place }: SettingSource, state: string): Observation {
  return { level: 'ok', place, message: printable(`${key}: ${state}`) }
}

function warning(code: WarningCode, source: SettingSource, finding: Finding): Observation {
  const { place, message } = faultAt(source, finding)
  return { level: 'warning', place, code, message: printable(message) }
}

function fault(code: OnlineFault['code'], source: SettingSource, finding: Finding): Observation {
  const { place, message } = faultAt(source, finding)
  return { level: 'fault', place, code, message: printable(message) }
}
