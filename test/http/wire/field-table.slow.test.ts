/** The properties of field tables, for many texts. */

import t from 'tap'
import { checkLines, checkRequestLines, checkSections } from './field-table-properties.ts'

t.test('any section', async (t) => checkSections(t, 50_000))

t.test('serialized lines', async (t) => {
  checkLines(20_000)
  t.pass()
})

t.test('any request line', async (t) => checkRequestLines(t, 50_000))
