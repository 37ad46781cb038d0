/**
 * Settings that belong to the configuration but that this version does not serve yet. Asking for one is a fault:
 * to start without it would be to do something else than what was asked. Each line here goes when its feature comes.
 */

import type { Section } from './section.ts'

const LATER = 'not served by this version'

export function refuseUnservedSettings(root: Section): void {
  if (root.has('workers') && Number(root.value('workers') ?? 1) !== 1)
    root.fault('workers', `workers: more than one process is ${LATER}: leave it out, or write 1`)
  if (root.value('redis') !== undefined)
    root.fault('redis', `redis is ${LATER}: leave it out, and cache and bus are in the process`)
}

export function refuseUnservedTenantSettings(tenant: Section): void {
  if (tenant.has('oidc')) tenant.faultOfKey('oidc', `oidc: sign-in is ${LATER}`)
}

export function refuseUnservedStore(root: Section): boolean {
  const store = root.value('store')
  if (typeof store !== 'string' || !/^postgres(ql)?:/i.test(store)) return false
  root.fault('store', `store: PostgreSQL is ${LATER}: only sqlite:PATH`)
  return true
}

export function refuseUnservedUpstreamSettings(upstream: Section): void {
  const targets = upstream.value('targets')
  if (Array.isArray(targets) && targets.length > 1)
    upstream.faultOfKey('targets', `targets: more than one is ${LATER}`)
}
