/** What a gateway shows beside its file, in a folder that others write to. */

import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hideGateway, showGateway, shownGateway } from '../../../../seats-admin/index.ts'
import { temporaryFolder } from './support.ts'

const SHOWN = {
  ...{ id: 'a', name: 'host 1', startedAt: 1, version: '1.0.0', config: 'hash', url: null },
  refused: { at: '2026-01-01T00:00:00.000Z', faults: 2, first: 'a.yaml:1:1: a fault' },
  tables: 'store:acme',
  secrets: { acme: ['0123456789ab'] },
}

t.test('no link is followed, and no file of another is written to', async (t) => {
  const folder = temporaryFolder(t)
  const [path, other] = [join(folder, 'a.db'), join(folder, 'other')]
  writeFileSync(other, 'precious', { mode: 0o644 })
  for (const name of ['a.db.gateway', 'a.db.gateway.new']) symlinkSync(other, join(folder, name))
  await showGateway(path, SHOWN)
  t.equal(readFileSync(other, 'utf8'), 'precious')
  t.same(await shownGateway(path), SHOWN)
  t.equal(statSync(`${path}.gateway`).mode & 0o777, 0o600)
  await hideGateway(path)
  t.equal(await shownGateway(path), null)
})

t.test('a file of a version before tables in the store is shown without them', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  writeFileSync(`${path}.gateway`, JSON.stringify({ ...SHOWN, tables: undefined }))
  t.same(await shownGateway(path), { ...SHOWN, tables: null })
})

t.test('a file that shows a time that no date has shows nothing', async (t) => {
  const path = join(temporaryFolder(t), 'a.db')
  for (const startedAt of [9e15, -9e15, 1e300, '1', null]) {
    writeFileSync(`${path}.gateway`, JSON.stringify({ ...SHOWN, startedAt }))
    t.equal(await shownGateway(path), null, String(startedAt))
  }
  writeFileSync(`${path}.gateway`, JSON.stringify({ ...SHOWN, startedAt: 8.64e15 }))
  t.match(await shownGateway(path), { startedAt: 8.64e15 })
})
