/** SQL of logouts at the provider that both drivers share. */

import { LISTED_COLUMNS } from './session-rows.ts'
import type { LogoutSince, LogoutSubject } from './session-store.ts'

const OPEN = `SELECT ${LISTED_COLUMNS} FROM sessions WHERE tenant = :tenant AND ended_at IS NULL`
const SOME = 'ORDER BY id LIMIT :limit'

export const logoutQueries = {
  ofProviderSession: `${OPEN} AND provider_session = :provider_session ${SOME}`,
  ofUser: `${OPEN} AND sub = :sub ${SOME}`,
  record: `INSERT INTO provider_logouts (tenant, digest, at) VALUES (:tenant, :digest, :at)
    ON CONFLICT (tenant, digest) DO UPDATE SET at = excluded.at WHERE provider_logouts.at < excluded.at`,
  since: `SELECT at FROM provider_logouts WHERE tenant = :tenant
    AND ((digest = :digest AND at >= :since) OR (digest = :or_digest AND at >= :or_since))`,
  recordToken: `INSERT INTO provider_logouts (tenant, digest, at) VALUES (:tenant, :digest, :at)
    ON CONFLICT (tenant, digest) DO NOTHING RETURNING at`,
  prune: 'DELETE FROM provider_logouts WHERE at < :before',
}

/** The query that finds the subject's sessions, and its parameters. */
export function sessionsOfSubject(subject: LogoutSubject) {
  return 'user' in subject
    ? ({ query: 'ofUser', values: { sub: JSON.stringify(subject.user) } } as const)
    : ({ query: 'ofProviderSession', values: { provider_session: subject.providerSession } } as const)
}

export function sinceValues(tenant: string, { digest, since }: LogoutSince, or: LogoutSince | null = null) {
  return { tenant, digest, since, or_digest: or?.digest ?? digest, or_since: or?.since ?? since }
}
