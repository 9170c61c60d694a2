-- What an undo or redo reversed, so that the next one knows where to go on: an operation that is
-- neither has neither.

ALTER TABLE operations ADD COLUMN undoes INTEGER REFERENCES operations (id);
ALTER TABLE operations ADD COLUMN redoes INTEGER REFERENCES operations (id);
