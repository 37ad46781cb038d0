/** The commands of the manual, but for the pages of `shell-administration.slow.test.ts`. */

import t from 'tap'
import { ADMINISTRATION, pagesWithCommands, runPage } from './shell.ts'

for (const page of pagesWithCommands)
  if (!ADMINISTRATION.includes(page)) t.test(page, (t) => runPage(t, page))
