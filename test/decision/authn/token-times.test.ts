import t from 'tap'
import { bearer, claims, NOW, SECOND, secrets, sign, tenant, tenants } from './support.ts'

/** The claims as JSON text, so that numbers beyond JavaScript's range stay as written. */
function written(name: string, literal: string): string {
  const { exp, iat, nbf, ...others } = claims
  const times: Record<string, string> = { exp: `${exp}`, iat: `${iat}`, nbf: `${nbf}`, [name]: literal }
  const text = Object.entries(times)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => `"${key}":${value}`)
  return sign(`${JSON.stringify(others).slice(0, -1)},${text.join(',')}}`)
}

const leeway = (ms: number) => ({
  tenants: tenants(tenant('acme', { secrets: [secrets.acme], leeway: ms })),
})

t.test('a time that is not a finite number', async (t) => {
  for (const name of ['exp', 'iat', 'nbf']) {
    for (const literal of [
      '"1900000000"',
      '""',
      '1e400',
      '-1e400',
      'null',
      'true',
      'false',
      '[]',
      '[1900000000]',
      '{}',
      '"NaN"',
      '"Infinity"',
    ])
      t.equal(await bearer(written(name, literal)), 'token_invalid', `${name}: ${literal}`)
    for (const literal of ['NaN', 'Infinity', '01900000000', '0x70000000', '1_900_000_000', '+1900000000'])
      t.equal(await bearer(written(name, literal)), 'token_invalid', `${name}: ${literal}, which is not JSON`)
  }
})

t.test('exp is required, the others are not', async (t) => {
  t.equal(await bearer(written('exp', '')), 'token_invalid')
  t.match(await bearer(written('nbf', '')), { user: 'alice' })
  t.match(await bearer(written('iat', '')), { user: 'alice', claims: { issuedAt: -Infinity } })
})

t.test('exp: valid before, not at or after', async (t) => {
  const token = sign({ ...claims, exp: SECOND + 60 })
  const at = (now: number) => bearer(token, { now: () => now })
  t.match(await at((SECOND + 60) * 1000 - 1), { user: 'alice' })
  t.equal(await at((SECOND + 60) * 1000), 'token_expired')
  t.equal(await at((SECOND + 60) * 1000 + 1), 'token_expired')
  for (const literal of ['0', '-0', '-1', '-1e300', '1', `${SECOND}`, `${SECOND}.5`, '1e-300'])
    t.equal(await bearer(written('exp', literal)), 'token_expired', literal)
  for (const literal of [`${SECOND}.501`, '1.9e9', '1e300', '9007199254740993', `${NOW}`])
    t.match(await bearer(written('exp', literal)), { user: 'alice' }, literal)
})

t.test('exp: leeway', async (t) => {
  const token = sign({ ...claims, exp: SECOND - 30 })
  t.equal(await bearer(token), 'token_expired')
  t.equal(await bearer(token, leeway(30_000)), 'token_expired', 'half a second late')
  t.match(await bearer(token, leeway(31_000)), { user: 'alice' })
})

t.test('nbf: valid at and after, not before', async (t) => {
  for (const literal of [`${SECOND}`, `${SECOND}.5`, '0', '-0', '-1', '-1e300'])
    t.match(await bearer(written('nbf', literal)), { user: 'alice' }, literal)
  for (const literal of [`${SECOND}.501`, `${SECOND + 1}`, '1e300', `${NOW}`])
    t.equal(await bearer(written('nbf', literal)), 'token_not_yet_valid', literal)
  const token = sign({ ...claims, nbf: SECOND + 30 })
  t.equal(await bearer(token, leeway(29_000)), 'token_not_yet_valid')
  t.match(await bearer(token, leeway(29_500)), { user: 'alice' })
})

t.test('iat: not in the future; the current second is accepted', async (t) => {
  for (const literal of [`${SECOND}`, `${SECOND}.9`, '0', '-1'])
    t.match(await bearer(written('iat', literal)), { user: 'alice' }, literal)
  for (const literal of [`${SECOND + 1}`, `${SECOND + 3600}`, '1e300', `${NOW}`])
    t.equal(await bearer(written('iat', literal)), 'token_not_yet_valid', literal)
  t.match(await bearer(sign({ ...claims, iat: SECOND + 30 }), leeway(30_000)), { user: 'alice' })
})

t.test('issuedAt is the iat in whole seconds', async (t) => {
  t.match(await bearer(written('iat', `${SECOND - 10}.999`)), { claims: { issuedAt: SECOND - 10 } })
  t.match(await bearer(written('iat', '-0.5')), { claims: { issuedAt: -1 } })
})

t.test('what a revocation is compared with: the iat in whole seconds, whatever the leeway', async (t) => {
  const issuedAt = async (literal: string, ms = 0) => {
    const result = await bearer(written('iat', literal), leeway(ms))
    return typeof result === 'string' ? result : result.issuedAt
  }
  for (const ms of [0, 500, 30_000, 3_600_000]) {
    t.equal(await issuedAt(`${SECOND - 10}`, ms), SECOND - 10)
    t.equal(
      await issuedAt(`${SECOND - 10}.999`, ms),
      SECOND - 10,
      'a fraction of a second makes it no younger',
    )
    t.equal(await issuedAt('-0.5', ms), -1)
    t.equal(await issuedAt('', ms), -Infinity, 'each revocation voids a token without iat')
  }
  t.equal(await issuedAt(`${SECOND + 30}.5`, 30_000), SECOND + 30, 'an issuer whose clock is ahead')
  t.equal(await issuedAt(`${SECOND + 31}`, 30_000), 'token_not_yet_valid')
})

t.test('a bad signature is reported before the times', async (t) => {
  const expired = sign({ ...claims, exp: 1 }, { secret: secrets.globex })
  t.equal(await bearer(expired), 'token_invalid')
})

t.test('with an invalid clock every token is refused', async (t) => {
  t.equal(await bearer(sign(), { now: () => Number.NaN }), 'token_expired')
})
