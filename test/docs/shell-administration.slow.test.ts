/** The commands of the pages of the manual for administrators. */

import t from 'tap'
import { ADMINISTRATION, pagesWithCommands, runPage } from './shell.ts'

for (const page of ADMINISTRATION)
  t.test(page, async (t) => {
    t.ok(pagesWithCommands.includes(page))
    await runPage(t, page)
  })
