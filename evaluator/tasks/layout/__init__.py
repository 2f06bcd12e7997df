"""Person layout: where are the head, hands and feet of a person?"""
