/**
 * CVE-2025-64484 (oauth2-proxy), CVE-2026-52845 (Caddy), CVE-2026-39858 (Traefik): a header that was dropped in one
 * spelling passed in another, and CGI, WSGI and PHP fold both into one variable.
 */

import t from 'tap'
import { get, seenBy } from './support.ts'

const spellings = [
  'x-seatgate-user',
  'X-Seatgate-User',
  'X-SEATGATE-USER',
  'x_seatgate_user',
  'X_Seatgate-User',
  'x-seatgate_user',
  'X.Seatgate.User',
  'x!seatgate~user',
  'x-seatgate',
  'x-seatgate-',
  'x_seatgate_anything_else',
  'x_api_key',
  'X_Api-Key',
  'x_request_id',
  'x_forwarded_for',
  'X_FORWARDED_PROTO',
  'x_forwarded-anything',
  'x_original_url',
  'X_HTTP_Method_Override',
  'x.rewrite.url',
  'transfer_encoding',
  'Content_Length',
  'proxy_authorization',
  'keep_alive',
]

for (const name of spellings) {
  t.test(`${name} is dropped`, async (t) => {
    t.notMatch(await seenBy(t, get(`${name}: 66601`)), ': 66601\r\n')
  })
}

t.test('neither trust in the peer nor pass_overrides lets a second spelling through', async (t) => {
  const seen = await seenBy(
    t,
    get('x_forwarded_for: 66601', 'x_original_url: 66602', 'x_seatgate_user: 66603'),
    {
      trustedProxies: ['127.0.0.0/8'],
      passOverrides: true,
      passAuthorization: true,
    },
  )
  t.notMatch(seen, /: 6660\d\r\n/)
})

t.test('a flood of new names is classified like the first', async (t) => {
  for (let batch = 0; batch < 12; batch++) {
    const junk = Array.from({ length: 100 }, (_, i) => `x-junk-${batch}-${i}: 1`)
    const seen = await seenBy(t, get(...junk, `X_seatgate_user_${batch}: 66601`))
    t.notMatch(seen, ': 66601\r\n')
    t.match(seen, `x-junk-${batch}-99: 1`)
  }
})
