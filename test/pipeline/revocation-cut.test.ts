/** Which callers a revocation concerns. */

import t from 'tap'
import type { RevocationNotice, RevocationSubject } from '../../seats-admin/model/revocation.ts'
import type { Principal } from '../../src/model/principal.ts'
import { type Change, type Concern, concernOf, revokedCommit } from '../../src/pipeline/revocation-cut.ts'

/** T: 900 ms into its second. */
const AT = 1_764_164_700_900
const SECOND = 1_764_164_700
const claims = { by: 'any-space' as const, names: [], issuedAt: 0 }
const more = { tenant: 'acme', email: null, claims, validUntil: null }

function token(owner: string, issuedAt: number, changed: Partial<Principal> = {}): Principal {
  return { ...more, method: 'bearer', user: owner, owner, issuedAt, session: null, ...changed }
}

const cookie = (owner: string, session: string): Principal =>
  token(owner, Infinity, { method: 'session', session })

const key = (user: string, owner: string | null): Principal =>
  token('', Infinity, { method: 'api-key', user, owner })

const OLD = SECOND - 100

const CALLERS: Readonly<Record<string, Principal>> = {
  'token from before': token('u', OLD),
  'token of the same second': token('u', SECOND),
  'token of the next second': token('u', SECOND + 1),
  'token without iat': token('u', Number.NEGATIVE_INFINITY),
  'token of another user': token('v', OLD),
  'token in another tenant': token('u', OLD, { tenant: 'globex' }),
  'token of a session that ended': token('u', Infinity, { session: 's1' }),
  'cookie of a session that ended': cookie('u', 's1'),
  'cookie of a later session': cookie('u', 's2'),
  'cookie of another user': cookie('v', 's3'),
  'cookie in another tenant': { ...cookie('u', 's1'), tenant: 'globex' },
  'token of the issuer': token('https://ci|u', OLD, { method: 'issuer' }),
  'new token of the issuer': token('https://ci|u', SECOND + 1, { method: 'issuer' }),
  'token of another issuer': token('https://ci.example|u', OLD, { method: 'issuer' }),
  'user whose sub begins with the issuer': token('https://ci|u', OLD),
  'owned key that was revoked': key('k1', 'u'),
  'other key of the owner': key('k2', 'u'),
  'key without an owner': key('k3', null),
}

function concerned(
  subject: RevocationSubject,
  changes: readonly Pick<Change, 'kind' | 'key'>[],
  notice: Partial<RevocationNotice> = {},
): Readonly<Record<string, Concern>> {
  return concernedBy([noticeOf({ at: AT, subject, ...notice }), ...changes])
}

const noticeOf = (notice: object) => ({ kind: 'revocation', key: JSON.stringify(notice) })

function concernedBy(changes: readonly Pick<Change, 'kind' | 'key'>[]): Readonly<Record<string, Concern>> {
  const commit = revokedCommit(changes.map((each) => ({ ...each, tenant: 'acme', mark: 7 })))
  if (commit === null) throw new Error('not understood')
  const concerns = Object.entries(CALLERS).map(([name, caller]) => [name, concernOf(caller, commit)] as const)
  return Object.fromEntries(concerns.filter(([, concern]) => concern !== 'none'))
}

const s1 = { kind: 'session', key: 's1' }
const k1 = { kind: 'api-key', key: 'k1' }
const block = { kind: 'block', key: '"u"' }

const OLD_TOKENS = {
  'token from before': 'ended',
  'token of the same second': 'ended',
  'token without iat': 'ended',
}
const SESSION = { 'token of a session that ended': 'ended', 'cookie of a session that ended': 'ended' }
const KEY = { 'owned key that was revoked': 'ended' }

t.test('a user: the record of a session that the commit does not list tells', async (t) => {
  t.same(concerned({ user: 'u' }, [s1, k1]), {
    ...OLD_TOKENS,
    ...SESSION,
    'cookie of a later session': 'perhaps',
    ...KEY,
    'other key of the owner': 'perhaps',
  })
})

t.test('a user without sessions, or with more than a commit lists: their records tell', async (t) => {
  t.same(concerned({ user: 'u' }, [k1]), {
    ...OLD_TOKENS,
    'token of a session that ended': 'perhaps',
    'cookie of a session that ended': 'perhaps',
    'cookie of a later session': 'perhaps',
    ...KEY,
    'other key of the owner': 'perhaps',
  })
})

t.test('a user who is blocked too: what is not void is decided again', async (t) => {
  t.same(concerned({ user: 'u' }, [s1, k1, block]), {
    ...OLD_TOKENS,
    'token of the next second': 'perhaps',
    ...SESSION,
    'cookie of a later session': 'perhaps',
    ...KEY,
    'other key of the owner': 'perhaps',
  })
})

t.test('a session, and a key', async (t) => {
  t.same(concerned({ session: 's1' }, [s1]), SESSION)
  t.same(concerned({ api_key: 'k1' }, [k1]), KEY)
  t.same(concerned({ api_key: 'k1' }, []), KEY, 'it was revoked before')
})

t.test('an issuer', async (t) => {
  t.same(concerned({ issuer: 'https://ci' }, []), { 'token of the issuer': 'ended' })
})

t.test('a tenant', async (t) => {
  const tokens = {
    ...OLD_TOKENS,
    'token of another user': 'ended',
    'token of the issuer': 'ended',
    'token of another issuer': 'ended',
    'user whose sub begins with the issuer': 'ended',
  }
  const s3 = { kind: 'session', key: 's3' }
  const keysPerhaps = { 'other key of the owner': 'perhaps', 'key without an owner': 'perhaps' }
  t.same(concerned({ tenant: true }, [s1, s3], { listed: true }), {
    ...tokens,
    ...SESSION,
    'cookie of a later session': 'perhaps',
    'cookie of another user': 'ended',
  })
  t.match(
    concerned({ tenant: true }, []),
    { ...tokens, 'owned key that was revoked': 'perhaps', ...keysPerhaps },
    'more sessions or API keys than a commit lists',
  )
  t.same(concerned({ tenant: true }, [k1]), {
    ...tokens,
    'token of a session that ended': 'perhaps',
    'cookie of a session that ended': 'perhaps',
    'cookie of a later session': 'perhaps',
    'cookie of another user': 'perhaps',
    ...KEY,
    ...keysPerhaps,
  })
})

t.test('several in one commit, as receipts make them again: each counts', async (t) => {
  const notices = [
    { at: 1000, subject: { user: 'w' } },
    { at: AT, subject: { user: 'v' } },
    { at: AT, subject: { issuer: 'https://ci' } },
  ].map(noticeOf)
  t.same(concernedBy([...notices, s1, k1, block]), {
    'token from before': 'perhaps',
    'token of the same second': 'perhaps',
    'token of the next second': 'perhaps',
    'token without iat': 'perhaps',
    'token of another user': 'ended',
    ...SESSION,
    'cookie of a later session': 'perhaps',
    'cookie of another user': 'perhaps',
    'token of the issuer': 'ended',
    ...KEY,
    'other key of the owner': 'perhaps',
  })
})

t.test('a count: what a revocation would end, without changes of records', async (t) => {
  const count = true as const
  t.same(concerned({ user: 'u' }, [], { count, keys: ['k1'] }), {
    ...OLD_TOKENS,
    ...SESSION,
    'cookie of a later session': 'ended',
    ...KEY,
  })
  t.same(concerned({ session: 's1' }, [], { count }), SESSION)
  t.same(concerned({ api_key: 'k1' }, [], { count }), KEY)
})

t.test('without a caller, and a notice of a newer version', async (t) => {
  const commitOf = (...texts: string[]) =>
    revokedCommit(texts.map((key) => ({ kind: 'revocation', tenant: 'acme', mark: 7, key })))
  const noticeText = (subject: unknown) => JSON.stringify({ at: AT, subject })
  const all = noticeText({ tenant: true })
  const commit = commitOf(all)
  t.equal(commit === null ? '' : concernOf(null, commit), 'none')
  for (const subject of [{ space: 's' }, { user: 'u', space: 's' }, {}]) {
    t.equal(commitOf(noticeText(subject)), null)
    t.equal(commitOf(all, noticeText(subject)), null, 'beside one that is understood')
  }
  t.equal(commitOf('no JSON'), null)
  t.equal(revokedCommit([]), null)
})
