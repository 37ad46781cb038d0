/** Users and groups of SCIM at their limits, and by several writers, in a file. */

import t from 'tap'
import { inTurn } from '../in-turn.ts'
import { scimLimits, scimScale, scimWriters } from '../scim-limits.ts'
import { databases } from './support.ts'

const open = inTurn(t, databases())
scimLimits(t, open)
scimScale(t, open)
scimWriters(t, inTurn(t, databases(2)))
