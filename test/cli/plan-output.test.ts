/** A plan of Seats as text. */

import t from 'tap'
import { planText } from '../../src/cli/seats/plan-output.ts'

const NOTHING = {
  tenant: 'acme',
  space: 'admin',
  changes: [],
  unchanged: 2,
  unnamed: { count: 0, names: [] },
  warnings: [],
  versions: {},
  users_exact: false,
}

t.test('Seats in no file are all counted, though a plan names some of them', async (t) => {
  const names = Array.from({ length: 20 }, (_, at) => `S${at}`)
  const text = (unnamed: { count: number; names: string[] }) =>
    planText({ ...NOTHING, unnamed }).replace(/\s+/g, ' ')
  t.match(text({ count: 43, names }), / 43 Seats .* S9 and 33 more$/)
  t.match(text({ count: 11, names: names.slice(0, 11) }), / S9 and 1 more$/)
  t.match(text({ count: 2, names: ['A', 'B'] }), /left alone: A, B$/)
  t.notMatch(planText(NOTHING), 'left alone')
})
