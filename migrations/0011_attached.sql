-- A message may be one that a client attached to another (the field `attached` of its content). The
-- role's number then stands 8 higher, so that plans need no body to know of it, and the rows and seals
-- of all other messages stay as they are. No row changes here: it is the version that counts, for a
-- program that does not know the field must not take such a content for damage.
SELECT 1;
