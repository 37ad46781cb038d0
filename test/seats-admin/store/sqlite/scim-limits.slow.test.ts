import t from 'tap'
import { inTurn } from '../in-turn.ts'
import { scimLimits } from '../scim-limits.ts'
import { databases } from './support.ts'

scimLimits(t, inTurn(t, databases()))
