import t from 'tap'
import { hashPermEntry, readHashPerm } from '../../../seats-admin/model/hash-perm.ts'

t.test('an entry parses back, for any name of a Seat', async (t) => {
  for (const name of ['Editor', 'a:b', ' ', '☃', '__proto__'])
    t.same([...(readHashPerm([hashPermEntry('north', name)]) ?? [])], [['north', [name]]])
})

t.test('entries of one space keep their order, without duplicates', async (t) => {
  t.same(
    [...(readHashPerm(['s1:B', 's2:A', 's1:A', 's1:B']) ?? [])],
    [
      ['s1', ['B', 'A']],
      ['s2', ['A']],
    ],
  )
})

t.test('an entry without a space, a Seat or well-formed text is ignored', async (t) => {
  t.equal(readHashPerm(['Editor', ':Editor', 's1:', 's 1:Editor', 's1:\ud800'])?.size, 0)
  t.equal(readHashPerm(undefined)?.size, 0)
})

t.test('a value that is not an array of strings is no claim', async (t) => {
  for (const claim of [null, {}, 's1:Editor', [1], ['s1:A', null]]) t.equal(readHashPerm(claim), null)
})
