/** Route tables in an SQLite file, which a gateway and its workers use. */

import t from 'tap'
import { inTurn } from '../in-turn.ts'
import { tablesTogether } from '../tables-together.ts'
import { databases } from './support.ts'

tablesTogether(t, inTurn(t, databases(2)))
