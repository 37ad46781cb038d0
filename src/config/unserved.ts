/**
 * Settings that belong to the configuration but that this version does not serve yet. Asking for one is a fault:
 * to start without it would be to do something else than what was asked. Each line here goes when its feature comes.
 */

import type { Section } from './section.ts'

const LATER = 'not served by this version'

export function refuseUnservedTenantSettings(tenant: Section): void {
  if (tenant.has('oidc')) tenant.faultOfKey('oidc', `oidc: sign-in is ${LATER}`)
}

export function refuseUnservedUpstreamSettings(upstream: Section): void {
  const targets = upstream.value('targets')
  if (Array.isArray(targets) && targets.length > 1)
    upstream.faultOfKey('targets', `targets: more than one is ${LATER}`)
}
