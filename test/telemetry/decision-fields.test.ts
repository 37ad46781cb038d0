/** The fields of the access log about a caller hold any text. */

import t from 'tap'
import type { Decision } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { decisionFields } from '../../src/telemetry/decision-fields.ts'

function decisionFor(user: string): Decision {
  const principal: Principal = {
    method: 'bearer',
    tenant: 'acme',
    user,
    email: null,
    claims: { by: 'name', entries: new Map([['s1', ['Named']]]), issuedAt: 100 },
    session: null,
    validUntil: null,
  }
  return {
    ...{ answer: 'deny', code: 'permission_denied', reason: '', method: 'GET', path: '/', route: null },
    ...{ permission: null, principal, space: 's1', seats: [], grantedIn: [], source: null, config: null },
    timings: { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 },
  }
}

t.test('callers with texts of any kind', async (t) => {
  for (const user of ['alice', '日本', 'a"b\\', '\ud800', '\u007f\u2028', 'x'.repeat(2000)])
    t.same(JSON.parse(`{${decisionFields(decisionFor(user), null, '').slice(1)}}`), {
      ...{ tenant: 'acme', user, auth: 'bearer', issued_at: 100 },
      ...{ space: 's1', seats: ['Named:named'] },
    })
})
