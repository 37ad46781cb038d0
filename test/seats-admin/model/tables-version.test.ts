/** What identifies route tables of the store, and the notice of another version. */

import { createHash } from 'node:crypto'
import t from 'tap'
import { tablesTag } from '../../../seats-admin/model/entity-tag.ts'
import { NO_TABLES, tablesDigest, tablesNoticeOf } from '../../../seats-admin/model/tables-version.ts'

t.test('the digest is of the names and texts, in any order', (t) => {
  const files = { 'b.yaml': '', 'a.yaml': 'é"\n' }
  const expected = createHash('sha256').update('{"a.yaml":"é\\"\\n","b.yaml":""}').digest('hex')
  t.equal(tablesDigest(files), expected)
  t.equal(tablesDigest({ 'a.yaml': 'é"\n', 'b.yaml': '' }), expected)
  for (const other of [{ 'a.yaml': 'é"\n' }, { ...files, 'a.yaml': 'é"' }, { ...files, 'c.yaml': '' }])
    t.not(tablesDigest(other), expected)
  t.throws(() => tablesDigest({ 'a.yaml': '\ud800' }), RangeError)
  t.equal(NO_TABLES.digest, tablesDigest({}))
  t.end()
})

t.test('a tag is of the version and the files', (t) => {
  const digest = tablesDigest({ 'a.yaml': '' })
  const tags = [NO_TABLES, { version: 1, digest }, { version: 2, digest }, { version: 1, digest: 'x' }].map(
    tablesTag,
  )
  t.equal(new Set(tags).size, 4)
  t.match(tags[0], /^"0-[0-9a-f]{12}"$/)
  t.equal(tablesTag({ version: 1, digest }), tags[1], 'after a restore, the same files have the same tag')
  t.end()
})

t.test('a notice of another form, as a newer version may write it, is none', (t) => {
  const notice = { version: 3, digest: 'ab', candidate: '01K' }
  t.same(tablesNoticeOf(JSON.stringify(notice)), notice)
  t.same(tablesNoticeOf(JSON.stringify({ ...notice, more: 1 })), notice)
  for (const other of [
    null,
    7,
    [],
    {},
    { version: 3, candidate: '01K' },
    { ...notice, digest: 7 },
    { ...notice, version: '3' },
    { ...notice, version: 1.5 },
  ])
    t.equal(tablesNoticeOf(JSON.stringify(other)), null, JSON.stringify(other))
  t.equal(tablesNoticeOf('{'), null)
  t.end()
})
