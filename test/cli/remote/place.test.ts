/** Places in a body in words. */

import t from 'tap'
import { placeInWords } from '../../../src/cli/remote/problem-text.ts'

t.test('the places that answers name', async (t) => {
  const seat = { name: 'A', spaces: ['main'], permissions: ['a:b', 'trainings:lst'] }
  const file = { seats: { '0': seat, 'x/~y': seat }, versions: { A: null } }
  const key = { name: 'k', seats: ['Viewer', 7] }
  const cases: readonly [pointer: string, body: unknown, words: string][] = [
    ['', seat, ''],
    ['/name', seat, 'name'],
    ['/expires_at', key, 'expires_at'],
    ['/spaces', seat, 'spaces'],
    ['/permissions/1', seat, 'permission 2 ("trainings:lst")'],
    ['/permissions/1', undefined, 'permission 2'],
    ['/spaces/0', { spaces: ['a\u0007b'] }, 'space 1 ("a\\u0007b")'],
    ['/seats/0', key, 'Seat 1 ("Viewer")'],
    ['/seats/1', key, 'Seat 2'],
    ['/seats/0', file, 'Seat "0"'],
    ['/seats/x~1~0y/permissions/1', file, 'Seat "x/~y", permission 2 ("trainings:lst")'],
    ['/seats/0/spaces/0', file, 'Seat "0", space 1 ("main")'],
    ['/seats/0/spaces/0', undefined, 'Seat "0", space 1'],
    ['/seats/permissions/spaces', { seats: { permissions: {} } }, 'Seat "permissions", spaces'],
    ['/seats/A/was', file, 'Seat "A", was'],
    ['/versions/A', file, 'version of Seat "A"'],
    ['/revoke/0', { revoke: ['01J'] }, 'API key 1 ("01J")'],
    ['/block/0', { block: ['anna'] }, 'user 1 ("anna")'],
    ['/a b', {}, '"a b"'],
  ]
  for (const [pointer, body, words] of cases) t.equal(placeInWords(pointer, body), words, pointer)
})
